export { compilePlan } from './compile-pipeline.js';
export type {
  PipelineSettings,
  PipelinePlan,
  PipelineSource,
  StagePlan,
} from './compile-pipeline.js';
export type { Delta, IncrementalNode, ZSetEntry } from './z-set.js';
export { OutputCollector, Pipeline } from './pipeline.js';
export type { OutputChange } from './pipeline.js';
export type { StageFailure } from './linear-node.js';
