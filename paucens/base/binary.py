"""Base of every classifier here, whatever its scores are made of: two classes, separated at a score of 0."""

from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted


class BinaryClassifier(ClassifierMixin, BaseEstimator):
    """Base of classifiers that predict by the sign of `decision_function`; their `fit` sets `classes_`."""

    def predict(self, X):
        """Predict the class: `classes_[1]` if the score is positive, otherwise `classes_[0]`.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        labels : ndarray of shape (n_samples,)
        """
        check_is_fitted(self)
        return self.classes_[(self.decision_function(X) > 0).astype(int)]

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags
