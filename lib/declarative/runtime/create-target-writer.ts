import { OperatorError } from '../../system/operator-error.js';
import type { TargetSpec } from '../spec/operator-spec.js';
import { Patcher } from './patcher.js';
import type { TargetWriter } from './target-writer.js';
import { Updater } from './updater.js';
import type { WriterOptions } from './updater.js';

/** Options of {@link createTargetWriter}. */
export interface TargetWriterOptions extends WriterOptions {
  readonly target: Pick<TargetSpec, 'type'>;
}

/**
 * The writer of a target.
 * @throws OperatorError `InvalidOption`: the field manager has none or more than 128 characters.
 */
export function createTargetWriter({
  target,
  type,
  fieldManager,
}: TargetWriterOptions): TargetWriter {
  if (fieldManager === '' || fieldManager.length > 128) {
    const got = `got ${fieldManager.length}`;
    throw new OperatorError('InvalidOption', `fieldManager: want 1 to 128 characters, ${got}`);
  }
  const options = { type, fieldManager };
  return target.type === 'Patcher' ? new Patcher(options) : new Updater(options);
}
