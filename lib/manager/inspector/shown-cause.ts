import type { Trigger, TriggerList } from '../../controller/index.js';
import type { ShownCause } from './overview.js';
import { firstOf, shownDuration } from './shown.js';

/** Maximum number of causes per reconcile. */
const maxCauses = 5;
/** Maximum number of changed paths. */
const maxPaths = 5;

/** Returns the causes of a reconcile. */
export function shownCauses({ triggers, more }: TriggerList): readonly ShownCause[] {
  const { items, more: cut } = firstOf(triggers, maxCauses);
  const causes = items.map(shownCause);
  const left = cut + more;
  return left === 0 ? causes : [...causes, { type: 'more', text: `and ${left} more` }];
}

function shownCause(trigger: Trigger): ShownCause {
  switch (trigger.type) {
    case 'event': {
      const { cluster, object, event } = trigger;
      const text = `${event}${detailsOf(trigger)}`;
      return { type: 'event', text, object: { ...object, cluster } };
    }
    case 'source':
      return { type: 'source', text: `source ${trigger.source}` };
    case 'acquired':
      return { type: 'acquired', text: 'the key came from another replica' };
    case 'requeue':
      return { type: 'requeue', text: `asked for after ${shownDuration(trigger.afterMs)}` };
    case 'retry':
      return { type: 'retry', text: `retry after failure ${trigger.failures} in a row` };
  }
}

function detailsOf(trigger: Trigger & { type: 'event' }): string {
  if (trigger.isInInitialList) return ' (existed at the start)';
  const { items, more } = firstOf(trigger.changedFields, maxPaths);
  if (items.length === 0) return '';
  return `: ${items.join(', ')}${more === 0 ? '' : ` and ${more} more`}`;
}
