import type { Client } from '../client/client.js';
import type { ControllerEventListener } from '../controller/index.js';
import { reconcileFailed } from '../controller/index.js';
import type { GroupKind } from '../object/resource-type.js';
import type { Clock } from '../system/clock.js';
import type { Logger } from '../system/logger.js';
import { failureLines, newsLines } from './news-lines.js';
import type { NewsLines, NewsPlace } from './news-lines.js';
import { newsOf } from './object-news.js';
import { ObservedObjects, observed } from './observed-objects.js';

/** Options of {@link OperatorFeed}. */
export interface OperatorFeedOptions extends NewsPlace {
  readonly clock: Clock;
}

/** The first lines of a feed. */
export interface FeedHead {
  readonly operator: string;
  /** In the format of `clusterText`; undefined if unknown. */
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
      if (news !== undefined) lines.tell(news);
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
