import { join } from 'node:path';
import { projectCopy } from './project-copy.js';

/** A project whose operator creates a Deployment and a ConfigMap for each Shop. */
export const shopProject = projectCopy(join(import.meta.dirname, 'shop'));

/** A project whose operator rolls out several workloads in order, and makes Barns of Farms. */
export const farmProject = join(import.meta.dirname, 'farm');
