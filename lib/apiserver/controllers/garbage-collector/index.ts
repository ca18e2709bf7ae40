export { startGarbageCollector } from './garbage-collector.js';
