export { readableMessage } from './brief-error.js';
export { failureLines, newsLines } from './news-lines.js';
export type { NewsLines } from './news-lines.js';
export { newsOf } from './object-news.js';
export { OperatorFeed, withoutFailures } from './operator-feed.js';
export { textLogger } from './text-logger.js';
export { clusterText } from './text-output.js';
