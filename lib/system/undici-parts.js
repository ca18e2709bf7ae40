// The connections of undici alone: with fetch, WebSocket and caches it takes 9 MB more memory.
// JavaScript, since these modules have no types of their own.
export { default as Client } from 'undici/lib/dispatcher/client.js';
export { default as Pool } from 'undici/lib/dispatcher/pool.js';
export { default as buildConnector } from 'undici/lib/core/connect.js';
