export { DeclarativeManager } from './declarative-manager.js';
export type { DeclarativeManagerOptions } from './declarative-manager.js';
export { Views } from './views.js';
export type { ViewsOptions } from './views.js';
