export { startEndpointSliceController } from './endpoint-slice-controller.js';
