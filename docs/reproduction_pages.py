def write(folder):
    pass
