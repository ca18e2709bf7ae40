import { OperatorError } from '../../system/operator-error.js';
import { operatorOfViewGroup } from '../spec/operator-spec.js';
import type { TargetSpec } from '../spec/operator-spec.js';
import type { Views } from '../views/views.js';
import { Patcher } from './patcher.js';
import type { TargetWriter } from './target-writer.js';
import { Updater } from './updater.js';
import type { WriterOptions } from './updater.js';
import { ViewUpdater } from './view-updater.js';

/** Options of {@link createTargetWriter}. */
export interface TargetWriterOptions extends WriterOptions {
  readonly target: Pick<TargetSpec, 'type'>;
  /** The view store. @defaultValue views are written with a client, like other kinds */
  readonly views?: Pick<Views, 'server'> | undefined;
}

/**
 * Creates the writer of a target.
 * @throws OperatorError `InvalidOption`: the field manager is empty or longer than 128 characters.
 */
export function createTargetWriter({
  target,
  type,
  fieldManager,
  views,
}: TargetWriterOptions): TargetWriter {
  if (fieldManager === '' || fieldManager.length > 128) {
    const got = `got ${fieldManager.length}`;
    throw new OperatorError('InvalidOption', `fieldManager: want 1 to 128 characters, ${got}`);
  }
  const options = { type, fieldManager };
  if (target.type === 'Patcher') return new Patcher(options);
  const updater = new Updater(options);
  const isView = operatorOfViewGroup(type.group) !== undefined;
  return isView && views !== undefined
    ? new ViewUpdater(updater, { ...options, store: views.server.loopback })
    : updater;
}
