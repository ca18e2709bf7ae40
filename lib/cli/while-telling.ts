import type { CommandContext } from './command-context.js';

/**
 * Shows a progress line on the standard error during an operation; only on a terminal, and erased at the end.
 * @param what - for example `compiling the operator`
 */
export async function whileTelling<T>(
  what: string,
  { stderr }: Pick<CommandContext, 'stderr'>,
  work: () => Promise<T>,
): Promise<T> {
  const { columns } = stderr;
  if (columns === undefined) return work();
  // A wrapped line could not be erased.
  stderr.write(`… ${what}`.slice(0, columns - 1));
  try {
    return await work();
  } finally {
    stderr.write('\r\u001b[2K');
  }
}
