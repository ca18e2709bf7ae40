export { Client, Pool, buildConnector } from 'undici';
