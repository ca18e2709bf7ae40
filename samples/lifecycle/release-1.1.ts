import { ResourceBuilder } from 'operator-builder/lifecycle';
import { disruptionBudget, identity, nodePort, page, server, serverName } from './http-server.js';
import { labels1x } from './release-1.0.js';
import type { Release } from './release.js';

/** Changes the image, adds a PodDisruptionBudget, and removes the Service for clients inside the cluster. */
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
