import { isOperatorError } from '../../system/operator-error.js';
import type { ResourceType } from '../../object/resource-type.js';
import type { ObjectKey } from '../../object/kubernetes-object.js';
import { createTargetWriter } from '../runtime/create-target-writer.js';
import { resolveKinds } from '../runtime/resolve-kinds.js';
import { targetFieldManager } from '../runtime/target-field-manager.js';
import type { TargetSpec } from '../spec/operator-spec.js';
import type { DeclarativeManager } from '../views/index.js';
import { allSettled } from './all-settled.js';

/** A controller that has ended, maybe in an earlier process. */
export interface FormerController {
  readonly name: string;
  readonly target: TargetSpec;
}

/** What {@link cleanUpTarget} works with. */
export interface CleanUpContext {
  /** The name of the operator. */
  readonly operator: string;
  readonly manager: DeclarativeManager;
  readonly signal: AbortSignal;
}

/** So many objects are cleaned up at once. */
const atOnce = 10;

/**
 * Takes away what a controller wrote, by the marks of its field manager: so it needs to know nothing of
 * what the controller did. A kind that is not served any more has no objects.
 * @throws what could not be taken away; all else is.
 */
export async function cleanUpTarget(
  { name, target }: FormerController,
  { operator, manager, signal }: CleanUpContext,
): Promise<void> {
  const client = manager.liveClient;
  const type = await typeOf({ name, target }, { operator, manager, signal });
  if (type === undefined) return;
  const fieldManager = targetFieldManager(operator, name);
  const writer = createTargetWriter({ type, target, fieldManager });
  const remove = (key: ObjectKey): Promise<unknown> =>
    writer.write(key, undefined, { client, signal });
  const keys = [...(await writer.written({ client, signal }))];
  while (keys.length > 0) await allSettled(keys.splice(0, atOnce).map(remove));
}

async function typeOf(
  { name, target }: FormerController,
  { operator, manager }: CleanUpContext,
): Promise<ResourceType | undefined> {
  const { liveClient: client, views } = manager;
  try {
    const kinds = await resolveKinds(
      [],
      { name, sources: [], target },
      { operator, client, views },
    );
    return kinds.target;
  } catch (error) {
    if (isOperatorError(error, 'UnknownKind')) return undefined;
    throw error;
  }
}
