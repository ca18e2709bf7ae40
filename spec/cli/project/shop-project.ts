import { join } from 'node:path';

/** A project with an operator, which makes a Deployment and a ConfigMap of each Shop. */
export const shopProject = join(import.meta.dirname, 'shop');
