export type { HealthCheck } from './health-check.js';
export type { Runnable, RunnableContext, RunnablePhase } from './runnable.js';
