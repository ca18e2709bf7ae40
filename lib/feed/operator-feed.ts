import type { Client } from '../client/client.js';
import type { ControllerEventListener } from '../controller/controller-event.js';
import { reconcileFailed } from '../controller/outcomes.js';
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

/** The head of a feed. */
export interface FeedHead {
  readonly operator: string;
  /** As `clusterText` names it; undefined: not known. */
  readonly cluster: string | undefined;
  /** Undefined: all. */
  readonly namespaces: readonly string[] | undefined;
}

/**
 * What an operator does in a cluster, for people: a line for each object that it creates, changes or
 * deletes, each Event that it records, and each reconcile that fails.
 */
export class OperatorFeed {
  readonly lines: NewsLines;
  /** Notes the failures; for the option `onEvent` of a manager. */
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

  /** `client`, whose writes and watches the feed shows. No further request is sent for it. */
  observed(client: Client): Client {
    return observed(client, this.#objects);
  }

  sayHead({ operator, cluster, namespaces }: FeedHead): void {
    this.lines.say(`operator ${operator}${cluster === undefined ? '' : `, on ${cluster}`}`);
    this.lines.say(`namespaces: ${namespaces?.join(', ') ?? 'all'}`);
  }
}

/** `logger` without the failures of reconciles, which are lines of the feed. */
export function withoutFailures(logger: Logger): Logger {
  return {
    ...logger,
    error: (message, fields) => {
      if (!message.startsWith(reconcileFailed)) logger.error(message, fields);
    },
    child: (fields) => withoutFailures(logger.child(fields)),
  };
}
