import { asError } from '../system/as-error.js';
import { OperatorError } from '../system/operator-error.js';

const reasons: Readonly<Record<string, string>> = {
  EACCES: 'permission denied',
  EISDIR: 'it is a directory',
  ENOENT: 'there is no such file or directory',
  ENOTDIR: 'a part of its path is no directory',
};

/** What is said of a file that can't be read or written: the path, and why. */
export function fileError(file: string, done: 'read' | 'written', thrown: unknown): OperatorError {
  const cause = asError(thrown);
  const { code = '' } = cause as NodeJS.ErrnoException;
  const reason = reasons[code] ?? cause.message;
  return new OperatorError('InvalidConfig', `${file} can't be ${done}: ${reason}`, { cause });
}
