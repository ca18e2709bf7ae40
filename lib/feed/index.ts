export { failureLines, newsLines } from './operator-feed.js';
export type { NewsLines } from './operator-feed.js';
export { newsOf } from './object-news.js';
export { OperatorFeed, withoutFailures } from './operator-feed.js';
export { clusterText, readableMessage, textLogger } from './text-logger.js';
