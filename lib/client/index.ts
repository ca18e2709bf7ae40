export { createClient } from './http-client.js';
export type { ConnectedClient } from './http-client.js';
export type { ClientOptions, ClientSettings } from './client-options.js';
export { anonymous, basicAuth, bearerToken } from './credentials.js';
export type { Credentials } from './credentials.js';
