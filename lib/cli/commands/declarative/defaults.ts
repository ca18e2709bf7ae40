/** Where `declarative keys` puts its files, and the other commands look for them. */
export const defaultKeyDirectory = 'view-keys';

/** The port of an API server of views. */
export const defaultViewPort = 18_443;
