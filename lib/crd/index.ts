export type { Convertible } from './convertible.js';
