import { ResourceBuilder } from 'operator-builder/lifecycle';
import { disruptionBudget, identity, nodePort, page, server, serverName } from './http-server.js';
import { labels1x } from './release-1.0.js';
import type { Release } from './release.js';

/** Another image; a PodDisruptionBudget is new, the Service for inside the cluster is no more. */
export const release11: Release = {
  version: '1.1.0',
  objects: (deploying) => {
    const builder = new ResourceBuilder({ commonLabels: labels1x });
    return [
      ...identity(builder, deploying),
      page(builder, deploying),
      disruptionBudget(builder, deploying),
      server(builder, deploying, {
        ...{ name: serverName, image: 'nginx:1.29', matchLabels: labels1x },
      }),
      nodePort(builder, deploying),
    ];
  },
};
