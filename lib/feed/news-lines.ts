import picocolors from 'picocolors';
import type { ControllerEventListener } from '../controller/index.js';
import type { Clock } from '../system/clock.js';
import { isOperatorError } from '../system/operator-error.js';
import { briefError, durationText } from './brief-error.js';
import type { ObjectNews } from './object-news.js';
import { usesColors } from './text-output.js';
import type { Environment, TextOutput } from './text-output.js';

/** Writes one line of text for each event. */
export interface NewsLines {
  /** Writes a line that is not about an object. */
  say(text: string): void;
  tell(news: ObjectNews): void;
}

/** Output of {@link newsLines}. */
export interface NewsPlace {
  readonly stdout: TextOutput;
  readonly env: Environment;
}

/** Returns a writer to standard output, with colours at a terminal. */
export function newsLines({ stdout, env }: NewsPlace): NewsLines {
  const colors = picocolors.createColors(usesColors({ env }, stdout));
  const marks: Readonly<Record<ObjectNews['mark'], string>> = {
    created: colors.green('+'),
    changed: colors.yellow('~'),
    removed: colors.red('-'),
    noted: colors.dim('·'),
    warned: colors.red('!'),
  };
  return {
    say: (text) => void stdout.write(`${text}\n`),
    tell: ({ mark, text, detail }) => {
      const rest = detail === '' ? '' : `  ${colors.dim(detail)}`;
      stdout.write(`${marks[mark]} ${text}${rest}\n`);
    },
  };
}

/** The same failure of the same key is printed again only after this time. */
const repeatedAfterMs = 1_000;

/**
 * Returns a listener that writes a line for each failed reconcile. It omits equal failures of quick retries.
 */
export function failureLines(lines: NewsLines, clock: Clock): ControllerEventListener {
  const last = new Map<string, { readonly text: string; readonly atMs: number }>();
  return (event) => {
    if (event.type !== 'reconciled') return;
    const { controller, kind, key, outcome, error, againInMs } = event;
    const id = `${controller} ${key}`;
    if (outcome === 'success' || outcome === 'requeueAfter') last.delete(id);
    const isEnded = isOperatorError(error, 'Aborted') || isOperatorError(error, 'Stopped');
    if (isEnded || (outcome !== 'error' && outcome !== 'terminal' && outcome !== 'timeout')) return;
    const subject = `${kind} ${key}`;
    const text = `${subject}: ${briefError(error, subject)}`;
    const [former, atMs] = [last.get(id), clock.monotonicMs()];
    if (former?.text === text && atMs - former.atMs < repeatedAfterMs) return;
    last.set(id, { text, atMs });
    const next =
      againInMs === undefined
        ? 'not again before it changes'
        : `again in ${durationText(againInMs)}`;
    lines.tell({ mark: 'warned', text: `${text} (${next})`, detail: '' });
  };
}
