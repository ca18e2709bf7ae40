import { describeObject } from '../../object/describe-object.js';
import type { Trouble } from '../conditions/explained-status.js';
import type { LifecycleObject } from '../lifecycle-status.js';
import type { Pass } from './pass.js';
import type { Survey } from './survey.js';

/** When a configuration that can't be carried out is looked at again, in milliseconds. */
export const problemRetryMs = 30_000;

/** Why nothing can be done before somebody acts; undefined: it can. */
export function whyBlocked<CR extends LifecycleObject>(
  pass: Pass<CR>,
  { problems, orphans }: Survey,
): Trouble | undefined {
  if (problems.length > 0) {
    return { reason: 'ConfigError', message: problems.join('; '), isBlocked: true };
  }
  if (orphans.length === 0 || pass.settings.orphans === 'adopt') return undefined;
  const names = orphans.map(({ desired }) => describeObject(desired)).join(', ');
  const message = `exist already and are nobody's: ${names}; delete them, or have them adopted`;
  return { reason: 'OrphansExist', message, isBlocked: true };
}
