import type { ApplyContext } from '../apply/index.js';
import type { BuilderSettings } from './builder-options.js';

/** The client and settings that every step of a Builder's run uses. */
export type RunContext = ApplyContext<BuilderSettings>;
