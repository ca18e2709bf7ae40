export { Pool, buildConnector } from 'undici';
