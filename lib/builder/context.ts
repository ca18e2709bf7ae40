import type { ApplyContext } from '../apply/index.js';
import type { BuilderSettings } from './builder-options.js';

/** What everything of a Builder that acts is given. */
export type RunContext = ApplyContext<BuilderSettings>;
