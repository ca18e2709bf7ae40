import picocolors from 'picocolors';
import type { Client, Environment } from '../client/index.js';
import { reconcileFailed } from '../controller/index.js';
import type { ControllerEventListener } from '../controller/index.js';
import type { GroupKind } from '../object/index.js';
import type { Clock, Logger } from '../system/index.js';
import { isOperatorError } from '../system/index.js';
import { newsOf } from './object-news.js';
import type { ObjectNews } from './object-news.js';
import { observed, ObservedObjects } from './observed-objects.js';
import { briefError, durationText, usesColors } from './text-logger.js';
import type { TextOutput } from './text-logger.js';

/** Options of {@link OperatorFeed}. */
export interface OperatorFeedOptions extends NewsPlace {
  readonly clock: Clock;
}

/** The first lines of a feed. */
export interface FeedHead {
  readonly operator: string;
  /** The cluster, as `clusterText` describes it; undefined if unknown. */
  readonly cluster: string | undefined;
  /** Undefined for all namespaces. */
  readonly namespaces: readonly string[] | undefined;
}

/**
 * Prints what an operator does: a line for each object that it creates, changes or deletes, each Event that
 * it records, and each failed reconcile.
 */
export class OperatorFeed {
  readonly lines: NewsLines;
  /** Prints failed reconciles; pass it as the option `onEvent` of a manager. */
  readonly onEvent: ControllerEventListener;
  readonly #objects: ObservedObjects;

  constructor(options: OperatorFeedOptions) {
    const lines = newsLines(options);
    this.lines = lines;
    this.onEvent = failureLines(lines, options.clock);
    this.#objects = new ObservedObjects((change) => {
      const news = newsOf(change, { isOperators: true });
      if (news !== undefined) lines.print(news);
    });
  }

  /** Sets the custom resources of the operator. */
  use(resources: readonly GroupKind[]): void {
    this.#objects.use(resources);
  }

  /** Wraps `client` so that the feed shows its writes and watch events. The feed sends no requests. */
  observed(client: Client): Client {
    return observed(client, this.#objects);
  }

  sayHead({ operator, cluster, namespaces }: FeedHead): void {
    this.lines.say(`operator ${operator}${cluster === undefined ? '' : `, on ${cluster}`}`);
    this.lines.say(`namespaces: ${namespaces?.join(', ') ?? 'all'}`);
  }
}

/** Returns `logger` without the messages of failed reconciles, which the feed prints. */
export function withoutFailures(logger: Logger): Logger {
  return {
    ...logger,
    error: (message, fields) => {
      if (!message.startsWith(reconcileFailed)) logger.error(message, fields);
    },
    child: (fields) => withoutFailures(logger.child(fields)),
  };
}

/** Writes one line of text for each event. */
export interface NewsLines {
  /** Writes a line that is not about an object. */
  say(text: string): void;
  print(news: ObjectNews): void;
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
    print: ({ mark, text, detail }) => {
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
      againInMs === undefined ? 'no retry before a change' : `again in ${durationText(againInMs)}`;
    lines.print({ mark: 'warned', text: `${text} (${next})`, detail: '' });
  };
}
