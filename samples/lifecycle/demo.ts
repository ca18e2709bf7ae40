// The life of a system in a terminal: `npm run lifecycle`. No cluster is needed.
import { play } from '../demo/playground.js';
import { SampleStage } from './demo/stage.js';
import { Story } from './demo/story.js';

await play({
  title: 'operator-builder: a lifecycle',
  namespace: 'sample-system',
  story: async (playground) => {
    const { client, namespace, signal } = playground;
    const stage = new SampleStage(client, namespace, signal);
    await new Story(playground, stage).tell();
  },
});
