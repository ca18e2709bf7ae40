export { startCronJobController } from './cron-job-controller.js';
export { parseCronSchedule } from './cron-schedule.js';
export type { CronSchedule } from './cron-schedule.js';
