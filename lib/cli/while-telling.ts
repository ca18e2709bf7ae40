import type { CommandContext } from './command-context.js';

/**
 * Shows what is being done, on the standard error, as long as it lasts: on a terminal only, where the
 * line is taken back at the end. @param what - for example `compiling the operator`
 */
export async function whileTelling<T>(
  what: string,
  { stderr }: Pick<CommandContext, 'stderr'>,
  work: () => Promise<T>,
): Promise<T> {
  const { columns } = stderr;
  if (columns === undefined) return work();
  // A line that wraps could not be taken back.
  stderr.write(`… ${what}`.slice(0, columns - 1));
  try {
    return await work();
  } finally {
    stderr.write('\r\u001b[2K');
  }
}
