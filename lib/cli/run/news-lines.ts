import picocolors from 'picocolors';
import type { ControllerEventListener } from '../../controller/controller-event.js';
import { isOperatorError } from '../../system/operator-error.js';
import { briefError, durationText } from '../brief-error.js';
import { usesColors } from '../command-context.js';
import type { CommandContext } from '../command-context.js';
import type { ObjectNews } from './object-news.js';

/** Writes what happens, a line each, for people. */
export interface NewsLines {
  /** A line that is not about an object. */
  say(text: string): void;
  tell(news: ObjectNews): void;
}

/** Lines on the standard output; in colours, where it is a terminal. */
export function newsLines(context: CommandContext): NewsLines {
  const { stdout } = context;
  const colors = picocolors.createColors(usesColors(context, stdout));
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

/** The same failure of the same key is a line again only if the next attempt is this far away. */
const repeatedFromMs = 1_000;

/** Writes a line for each reconcile that fails; retries of the first second that fail alike are left out. */
export function failureLines(lines: NewsLines): ControllerEventListener {
  const last = new Map<string, string>();
  return (event) => {
    if (event.type !== 'reconciled') return;
    const { controller, kind, key, outcome, error, againInMs } = event;
    const id = `${controller} ${key}`;
    if (outcome === 'success' || outcome === 'requeueAfter') last.delete(id);
    const isEnded = isOperatorError(error, 'Aborted') || isOperatorError(error, 'Stopped');
    if (isEnded || (outcome !== 'error' && outcome !== 'terminal' && outcome !== 'timeout')) return;
    const subject = `${kind} ${key}`;
    const text = `${subject}: ${briefError(error, subject)}`;
    const isRepeated = last.get(id) === text;
    if (isRepeated && againInMs !== undefined && againInMs < repeatedFromMs) return;
    last.set(id, text);
    const next =
      againInMs === undefined
        ? 'not again before it changes'
        : `again in ${durationText(againInMs)}`;
    lines.tell({ mark: 'warned', text: `${text} (${next})`, detail: '' });
  };
}
