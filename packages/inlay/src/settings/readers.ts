import { limitNames, type CallerLimits } from '@inlay/protocol'
import { maxRetentionDays, retentionNames, type RetentionOptions } from '../options/part-options.ts'
import { namedValues } from './named-values.ts'

/** Environment variables by name. */
export type Environment = Readonly<Record<string, string | undefined>>

/** One environment variable and how to read it. */
export interface Setting<Value> {
  readonly name: string
  /** Purpose of the setting, as a clause. */
  readonly meaning: string
  /** Allowed values, as worded in an error. */
  readonly allowed: string
  /** Behaviour when it is not set. */
  readonly without: string
  /** Never shown, not even in errors. */
  readonly isSecret?: boolean
  /** Not needed to get started: listed on the settings page but not in the README. */
  readonly isAdvanced?: boolean
  /** Parses a value; undefined if it is not allowed. */
  readonly read: (text: string) => Value | undefined
}

/** Any text. */
export const anyText = (text: string): string => text

/** An integer between two bounds, both inclusive. */
export function wholeNumber(text: string, least: number, most: number): number | undefined {
  if (!/^\d{1,15}$/.test(text)) return undefined
  const value = Number(text)
  return value >= least && value <= most ? value : undefined
}

/** An http or https URL, without trailing slashes. */
export function httpAddress(text: string): string | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined
  return url?.protocol === 'http:' || url?.protocol === 'https:' ? text.replace(/\/+$/, '') : undefined
}

/** One of several words, case-insensitive. */
export function oneOf<const Value extends string>(...values: Value[]): (text: string) => Value | undefined {
  return (text) => values.find((value) => value === text.toLowerCase())
}

/** Origins of web pages separated by commas or spaces, or `*`. */
export function origins(text: string): readonly string[] | '*' | undefined {
  if (text.trim() === '*') return '*'
  const listed = text.split(/[\s,]+/).filter((item) => item !== '')
  const areOrigins = listed.every((item) => URL.canParse(item) && new URL(item).origin === item)
  return areOrigins ? listed : undefined
}

/** Hosts as the egress client compares them: lower case, IPv6 without brackets. */
export function hosts(text: string): readonly string[] | undefined {
  const listed = text
    .toLowerCase()
    .split(/[\s,]+/)
    .filter((item) => item !== '')
    .map((item) => item.replace(/[[\]]/g, ''))
  return listed.every((item) => /^[\w.:-]+$/.test(item)) ? listed : undefined
}

/** Host names; a `*.` prefix includes all subdomains. */
export function hostNames(text: string): readonly string[] | undefined {
  const listed = text
    .toLowerCase()
    .split(/[\s,]+/)
    .filter((item) => item !== '')
  return listed.every((item) => /^(?:\*\.)?[\w-]+(?:\.[\w-]+)*$/.test(item)) ? listed : undefined
}

/** A key for a header: visible ASCII, and too long to be guessed. */
export function headerKey(text: string): string | undefined {
  return /^[\x21-\x7e]{8,512}$/.test(text) ? text : undefined
}

/** Values that {@link usageLimits} accepts. */
export const usageLimitsAllowed: string = `entries like tokensPerDay=50000, separated by commas; names: ${limitNames.join(', ')}`

/** Limits by name. */
export function usageLimits(text: string): CallerLimits | undefined {
  const given = namedValues(text, (value) => /^\d{1,15}$/.test(value))
  if (!given || Object.keys(given).some((name) => limitNames.every((known) => known !== name))) return undefined
  return Object.fromEntries(Object.entries(given).map(([name, value]) => [name, Number(value)]))
}

/** Values that {@link retentionDays} accepts. */
export const retentionAllowed: string = `entries like maxSessionDays=90, separated by commas, from 1 to ${maxRetentionDays} days; names: ${retentionNames.join(', ')}`

/** Days by name. */
export function retentionDays(text: string): RetentionOptions | undefined {
  const given = namedValues(text, (value) => wholeNumber(value, 1, maxRetentionDays) !== undefined)
  if (!given || Object.keys(given).some((name) => retentionNames.every((known) => known !== name))) return undefined
  return Object.fromEntries(Object.entries(given).map(([name, value]) => [name, Number(value)]))
}
