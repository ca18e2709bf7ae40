/*
 * Lines of text about the work of an operator, for a terminal.
 *
 *   client ──► observed-objects.ts ──► object-news.ts ──► operator-feed.ts ──► standard output
 *
 * `text-logger.ts` formats log messages in the same style.
 */
export { failureLines, newsLines } from './operator-feed.js';
export type { NewsLines } from './operator-feed.js';
export { newsOf, lastAppliedAnnotation, withoutBookkeeping } from './object-news.js';
export { OperatorFeed, withoutFailures } from './operator-feed.js';
export { clusterText, readableMessage, textLogger, briefError, usesColors } from './text-logger.js';
export type { TextOutput } from './text-logger.js';
