/** The bundler puts styles into one file. */
declare module '*.css';
