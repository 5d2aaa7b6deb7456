export { createFairTurns, type FairTurns, type FairTurnsOptions } from './fair-turns.ts'
export { createForegroundCalls, type ForegroundCalls } from './foreground-calls.ts'
export {
  addForegroundCalls,
  createPace,
  createSlices,
  joinInSlices,
  mapInSlices,
  type OwnBytes,
  nextSlice,
  yieldToEventLoop,
  yieldToForeground,
  type Slices,
} from './event-loop.ts'
export {
  createCallerLimit,
  createLimiter,
  createMutex,
  mapConcurrent,
  type CallerLimit,
  type Limiter,
  type Mutex,
} from './limits.ts'
export { createSignal, delay, endsWithin, unrefTimer, untilAborted, type Signal } from './waiting.ts'
