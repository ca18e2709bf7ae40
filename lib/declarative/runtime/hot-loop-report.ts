import type { Client } from '../../client/client.js';
import type { HotLoopEvent } from '../../controller/controller-event.js';
import type { Trigger } from '../../controller/trigger.js';
import type { KubernetesObject } from '../../object/kubernetes-object.js';
import { keyString } from '../../object/object-key.js';
import type { ObjectReference } from '../../object/object-reference.js';
import { OperatorError } from '../../system/operator-error.js';

/**
 * Says that a controller keeps writing an object, and who is on the other side: who else writes it, and
 * who wrote what made this controller write. Values are left out: they may be secret.
 */
export async function hotLoopError(
  { object, writesPerMinute, paths, managers, delayMs }: HotLoopEvent,
  trigger: Trigger | undefined,
  client: Client,
): Promise<OperatorError> {
  const changing = paths.length === 0 ? '' : `, changing ${paths.slice(0, 5).join(', ')}`;
  const cause = trigger?.type === 'event' ? await describeCause(trigger.object, client) : '';
  const message =
    `keeps writing ${object.kind} ${keyString(object)}, ${writesPerMinute} times a minute` +
    `${changing}; it is written by ${managers.join(', ') || 'nobody known'}${cause}. ` +
    `It waits ${delayMs} ms now between two writes, and longer if this goes on`;
  return new OperatorError('HotLoop', message);
}

async function describeCause(object: ObjectReference, client: Client): Promise<string> {
  const { apiVersion, kind } = object;
  const live = await client.get({ apiVersion, kind }, object).catch(() => undefined);
  const managers = live === undefined ? [] : managersOf(live);
  const by = managers.length === 0 ? '' : `, which is written by ${managers.join(', ')}`;
  return `; what makes it write is ${kind} ${keyString(object)}${by}`;
}

function managersOf({ metadata }: KubernetesObject): readonly string[] {
  return [...new Set((metadata.managedFields ?? []).flatMap(({ manager }) => manager ?? []))];
}
