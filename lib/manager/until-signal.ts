import type { Logger } from '../system/logger.js';
import { OperatorError } from '../system/operator-error.js';

const names = ['SIGINT', 'SIGTERM'] as const;

/** Runs `work` until SIGINT or SIGTERM; a second signal ends the process at once. */
export async function untilSignal(
  work: (signal: AbortSignal) => Promise<void>,
  logger: Logger,
): Promise<void> {
  const stopping = new AbortController();
  const onSignal = (name: NodeJS.Signals): void => {
    if (stopping.signal.aborted) {
      logger.warn(`${name} again: ends at once`);
      process.exit(1);
    }
    logger.info(`${name}: stops`);
    stopping.abort(new OperatorError('Stopped', name));
  };
  for (const name of names) process.on(name, onSignal);
  try {
    await work(stopping.signal);
  } finally {
    for (const name of names) process.off(name, onSignal);
  }
}
