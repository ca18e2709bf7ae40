/** Directory where `declarative keys` writes its files and the other commands look for them. */
export const defaultKeyDirectory = 'view-keys';

/** Default port of an API server of views. */
export const defaultViewPort = 18_443;
