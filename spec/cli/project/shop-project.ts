import { join } from 'node:path';
import { projectCopy } from './project-copy.js';

/** A project with an operator, which makes a Deployment and a ConfigMap of each Shop. */
export const shopProject = projectCopy(join(import.meta.dirname, 'shop'));

/** A project with an operator of several workloads, one after the other; Barns are made of Farms. */
export const farmProject = join(import.meta.dirname, 'farm');
