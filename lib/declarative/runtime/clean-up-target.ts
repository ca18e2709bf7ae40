import { asError } from '../../system/as-error.js';
import { OperatorError, isOperatorError } from '../../system/operator-error.js';
import type { ResourceType } from '../../object/resource-type.js';
import { createTargetWriter } from './create-target-writer.js';
import { resolveKinds } from './resolve-kinds.js';
import { takeBack } from './take-back.js';
import { targetFieldManager } from './target-field-manager.js';
import type { TargetSpec } from '../spec/operator-spec.js';
import type { DeclarativeManager } from '../views/index.js';

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

/** Options of {@link cleanUpTarget}. */
export interface CleanUpContext {
  /** The name of the operator. */
  readonly operator: string;
  readonly manager: Pick<
    DeclarativeManager,
    'views' | 'liveClient' | 'clock' | 'random' | 'namespacesOf'
  >;
}

/**
 * Removes what a controller wrote. Finds it by the controller's field manager, so it does not need to know
 * what the controller did. An unserved kind has no objects.
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
  const { liveClient: client, clock, random } = manager;
  try {
    await takeBack(createTargetWriter({ type, target, fieldManager }), {
      ...{ client, clock, random, namespaces: manager.namespacesOf(type) },
    });
  } catch (error) {
    throw new Error(`clean-up of ${operator}/${name}: ${reasonsOf(error)}`, { cause: error });
  }
}

/** The message of an `AggregateError` does not include its errors. */
function reasonsOf(error: unknown): string {
  if (!(error instanceof AggregateError)) return asError(error).message;
  const [first, ...more] = error.errors.map(asError);
  const cause = first?.cause === undefined ? '' : `: ${asError(first.cause).message}`;
  const others = more.length === 0 ? '' : `, and ${more.length} more`;
  return `${first?.message ?? error.message}${cause}${others}`;
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
