/*
 * The HTTPS server of views. Read `view-api-server.ts`, then `tokens.ts` (authentication and permissions, by
 * signed tokens) and `generate-keys.ts` (keys, certificates and kubeconfigs in files).
 */
export { createToken } from './tokens.js';
export type { TokenOptions, TokenClaims } from './tokens.js';
export {
  generateKeys,
  rotateTokenKey,
  viewKubeConfig,
  writeViewKubeConfig,
} from './generate-keys.js';
export type { KeyFiles } from './generate-keys.js';
export { ViewApiServer } from './view-api-server.js';
export type { ViewApiServerOptions } from './view-api-server.js';
