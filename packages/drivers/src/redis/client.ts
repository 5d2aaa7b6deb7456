/** The part of the module `redis` that is used, declared here so that hosts without it compile. */
export interface RedisModule {
  readonly createClient: (options: object) => RedisClient
}

export interface RedisClient {
  readonly isReady: boolean
  connect(): Promise<unknown>
  ping(): Promise<unknown>
  destroy(): void
  duplicate(): RedisClient
  on(event: 'error' | 'ready', listener: (error?: unknown) => void): unknown
  once(event: 'error' | 'ready', listener: () => void): unknown
  subscribe(channel: string, listener: (message: string) => void): Promise<unknown>
  eval(script: string, options: { keys: string[]; arguments: string[] }): Promise<unknown>
  exists(key: string): Promise<number>
  hExists(key: string, field: string): Promise<number | boolean>
  hGetAll(key: string): Promise<Record<string, string>>
  lRange(key: string, start: number, stop: number): Promise<string[]>
  sMembers(key: string): Promise<string[]>
  zRange(key: string, start: number, stop: number): Promise<string[]>
  zRangeByScore(key: string, least: number | string, most: number | string): Promise<string[]>
  multi(): RedisTransaction
}

export interface RedisTransaction {
  del(keys: string[]): RedisTransaction
  zRem(key: string, member: string): RedisTransaction
  sRem(key: string, member: string): RedisTransaction
  hSet(key: string, fields: Record<string, string>): RedisTransaction
  expire(key: string, seconds: number): RedisTransaction
  exec(): Promise<unknown>
}
