import { ResourceBuilder } from 'operator-builder/lifecycle';
import { disruptionBudget, identity, nodePort, page, server, serverName } from './http-server.js';
import type { Release } from './release.js';

const selected = { 'app.kubernetes.io/name': serverName };
const labels2x = { ...selected, 'app.kubernetes.io/managed-by': 'sample-operator' };

/**
 * Changes the labels of all objects. The selector of a Deployment is immutable, so this release has a Deployment
 * with another name. The operator creates it first, and prunes the old one when the new pods are ready. The
 * Service selects the pods of both.
 */
export const release20: Release = {
  version: '2.0.0',
  objects: (deploying) => {
    const builder = new ResourceBuilder({ commonLabels: labels2x });
    return [
      ...identity(builder, deploying),
      page(builder, deploying),
      disruptionBudget(builder, deploying),
      server(builder, deploying, {
        ...{ name: 'http-server-2', image: 'nginx:1.29', matchLabels: selected },
      }),
      nodePort(builder, deploying),
    ];
  },
};
