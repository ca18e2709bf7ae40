// The life of a site in a terminal: `npm run resource-chain`. No cluster is needed.
import { systemClock } from 'operator-builder';
import { play } from '../demo/playground.js';
import { SiteStage } from './demo/stage.js';
import { Story } from './demo/story.js';
import { siteOperator } from './operator.js';
import { FakeRegistry } from './registry.js';

// Long enough to see that the deletion of the site waits for the release.
const releaseMs = 1_500;

await play({
  title: 'operator-builder: resource chains',
  story: async ({ client, narrator, signal, run }) => {
    const registry = new FakeRegistry(systemClock, releaseMs);
    const stage = new SiteStage(client, 'blog', signal);
    const story = new Story({ narrator, stage, registry });
    await run(siteOperator({ registry }), () => story.tell());
  },
});
