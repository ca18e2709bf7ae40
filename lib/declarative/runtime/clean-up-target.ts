import { asError, OperatorError, isOperatorError } from '../../system/index.js';
import type { ResourceType, ObjectKey } from '../../object/index.js';
import { resolveKinds } from './running-pipeline.js';
import type { TargetSpec } from '../spec/operator-spec.js';
import type { DeclarativeManager } from '../views/index.js';
import { retryOnConflict } from '../../client/index.js';
import { isNotServed } from '../../cache/index.js';
import { keyString } from '../../object/index.js';
import { TargetWriter } from './target-writer.js';
import type { WriteContext } from './target-writer.js';
import { hashObject } from '../../hash/index.js';

/** A controller that has stopped, possibly in an earlier process. */
export interface FormerController {
  readonly name: string;
  readonly target: TargetSpec;
}

/** @throws OperatorError `InvalidOption`: `cleanUp` is not a policy. */
export function checkCleanUp(cleanUp: string): void {
  if (cleanUp === 'delete' || cleanUp === 'orphan') return;
  const got = `got ${JSON.stringify(cleanUp)}`;
  throw new OperatorError('InvalidOption', `cleanUp: want delete or orphan, ${got}`);
}

/** Options of `cleanUpTarget`. */
export interface CleanUpContext {
  /** The name of the operator. */
  readonly operator: string;
  readonly manager: Pick<
    DeclarativeManager,
    'views' | 'liveClient' | 'clock' | 'random' | 'namespacesOf'
  >;
}

/**
 * Removes what a controller wrote. Finds the objects by the controller's field manager, so that no record of its
 * writes is needed. An unserved kind has no objects.
 * @throws the failed removals, after all others have been done.
 */
export async function cleanUpTarget(
  former: FormerController,
  context: CleanUpContext,
): Promise<void> {
  const { operator, manager } = context;
  const { name, target } = former;
  const type = await typeOf(former, context);
  if (type === undefined) return;
  const fieldManager = targetFieldManager(operator, name);
  const { signal } = new AbortController();
  const writing = { client: manager.liveClient, signal, namespaces: manager.namespacesOf(type) };
  try {
    await takeBack(new TargetWriter({ type, fieldManager, how: target.type }), writing, manager);
  } catch (error) {
    const { message } = asError(error);
    throw new Error(`clean-up of ${operator}/${name}: ${message}`, { cause: error });
  }
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
    // Views of a stopped server have no objects.
    if (isOperatorError(error, 'UnknownKind') || isOperatorError(error, 'Stopped'))
      return undefined;
    throw error;
  }
}

/**
 * Removes everything that a target wrote, in this process or an earlier one. Does nothing if the kind is unserved, the
 * view server has stopped, or the process is not the leader.
 * @throws AggregateError the failed removals, after all others have been done.
 */
async function takeBack(
  writer: TargetWriter,
  context: WriteContext,
  { clock, random }: Pick<CleanUpContext['manager'], 'clock' | 'random'>,
): Promise<void> {
  const errors: Error[] = [];
  for (const key of await keysToTakeBack(writer, context)) {
    const remove = (): Promise<unknown> => writer.write(key, undefined, context);
    try {
      await retryOnConflict(remove, { clock, random });
    } catch (error) {
      if (isOperatorError(error, 'Fenced')) return;
      const message = `${keyString(key)}: ${asError(error).message}`;
      errors.push(new Error(message, { cause: error }));
    }
  }
  const [first, ...more] = errors;
  if (first === undefined) return;
  const others = more.length === 0 ? '' : `, and ${more.length} more`;
  throw new AggregateError(errors, `${first.message}${others}`);
}

async function keysToTakeBack(
  writer: TargetWriter,
  context: WriteContext,
): Promise<readonly ObjectKey[]> {
  try {
    return await writer.written(context);
  } catch (error) {
    if (isNotServed(error) || isOperatorError(error, 'Stopped')) return [];
    throw error;
  }
}

/** The API server's limit for the name of a field manager. */
const longestName = 128;

/**
 * Returns the field manager of a controller: `<operator>/<controller>`. A name above the API server's limit
 * is cut and ends with a hash of the whole, the same in every process.
 */
export function targetFieldManager(operator: string, controller: string): string {
  const name = `${operator}/${controller}`;
  if (name.length <= longestName) return name;
  const hash = hashObject(name).slice(0, 12);
  return `${name.slice(0, longestName - hash.length - 1)}-${hash}`;
}
