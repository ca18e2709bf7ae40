import { join } from 'node:path';

/** A project with an operator, which makes a Deployment and a ConfigMap of each Shop. */
export const shopProject = join(import.meta.dirname, 'shop');

/** A project with an operator of several workloads, one after the other; Barns are made of Farms. */
export const farmProject = join(import.meta.dirname, 'farm');
