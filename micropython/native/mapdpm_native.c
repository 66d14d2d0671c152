/* MAP-DPM in integers as a native module of MicroPython: the results of mapdpm_int.py, bit for bit.

       from mapdpm_native import MAPDPM

   The arithmetic is that of mapdpm.h; here is what a board's Python sees of it. The class has the
   methods and attributes of mapdpm_int's, without that file: mapdpm_batch and mapdpm_alarm take
   either. Arguments of methods are given by position. Ctrl-C waits for the end of a call. */

#include "py/dynruntime.h"

#include "../mapdpm.h"

#ifndef __linux__
/* Compilers write loops as calls of it; firmware has one. */
void *memset(void *memory, int byte, size_t n) {
    return mp_fun_table.memset_(memory, byte, n);
}
#endif

/* What mapdpm_int's learner knows from its `__init__` on. */
enum { CLUSTERS, DIM, C0, ONE, TWO_A0, ALPHA, WIDTH, M0, B0, MEMORY, CONSTANTS };
qstr_short_t names[CONSTANTS];

/* `counts` is a list of Python's: its numbers are copied before a call and after it. `_slots` is an
   array of all words of the learner, and of two rows more: the first is that at work. */
typedef struct {
    mp_obj_base_t base;
    mapdpm m;
    int32_t *row;
    mp_obj_t counts, slots, constants[CONSTANTS];
} learner;

static void require(bool holds, const char *rule) {
    if (!holds) mp_raise_ValueError(rule);
}

/* An int; one of more than 32 bits becomes what is out of every range. */
static int32_t number(mp_obj_t object) {
    mp_int_t value;
    if (mp_obj_is_small_int(object))
        value = MP_OBJ_SMALL_INT_VALUE(object);
    else if (mp_obj_get_type(object) == &mp_type_int)
        return MAPDPM_BAD;
    else
        value = mp_obj_get_int(object);
    return value == (int32_t)value ? value : MAPDPM_BAD;
}

/* Read the ints of a sequence; return whether there are n. */
static bool numbers(mp_obj_t sequence, int n, int32_t *into) {
    mp_obj_iter_buf_t buffer;
    mp_obj_t item;
    mp_fun_table.getiter(sequence, &buffer);
    while ((item = mp_fun_table.iternext(&buffer)) != MP_OBJ_STOP_ITERATION) {
        if (--n < 0) return false;
        *into++ = number(item);
    }
    return n == 0;
}

/* The items of `counts`, which a program may have changed. */
static mp_obj_t *items(const learner *self) {
    mp_obj_list_t *list = MP_OBJ_TO_PTR(self->counts);
    require((int)list->len == self->m.clusters, "counts: an int for every slot");
    return list->items;
}

/* Take over the weights that Python has; return how many clusters have one. */
static int open_counts(learner *self) {
    mp_obj_t *item = items(self);
    int k, used = 0;
    for (k = 0; k < self->m.clusters; k++)
        used += (self->m.counts[k] = number(item[k])) != 0;
    return used;
}

static void close_counts(const learner *self) {
    mp_obj_t *item = items(self);
    int k;
    for (k = 0; k < self->m.clusters; k++) item[k] = MP_OBJ_NEW_SMALL_INT(self->m.counts[k]);
}

static void read_row(const learner *self, mp_obj_t x) {
    int d;
    bool good = numbers(x, self->m.dim, self->row);
    for (d = 0; d < self->m.dim && good; d++)
        good = self->row[d] >= -2048 && self->row[d] <= 2047;
    require(good, "x: dim ints of -2048..2047");
}

static mp_obj_t surprise(size_t n, const mp_obj_t *args) {
    learner *self = MP_OBJ_TO_PTR(args[0]);
    bool density = n < 3 || mp_obj_is_true(args[2]);
    int32_t score;
    read_row(self, args[1]);
    open_counts(self);
    score = mapdpm_surprise(&self->m, self->row, density);
    return density ? mp_obj_new_int(score) : mp_const_none;
}
static MP_DEFINE_CONST_FUN_OBJ_VAR_BETWEEN(surprise_obj, 2, 3, surprise);

static mp_obj_t predict(mp_obj_t self_in, mp_obj_t x) {
    learner *self = MP_OBJ_TO_PTR(self_in);
    read_row(self, x);
    open_counts(self);
    return mp_obj_new_int(mapdpm_predict(&self->m, self->row));
}
static MP_DEFINE_CONST_FUN_OBJ_2(predict_obj, predict);

static mp_obj_t learn(size_t n, const mp_obj_t *args) {
    learner *self = MP_OBJ_TO_PTR(args[0]);
    int32_t label;
    read_row(self, args[1]);
    self->m.k = open_counts(self);
    label = mapdpm_learn(&self->m, self->row, n < 3 || mp_obj_is_true(args[2]));
    close_counts(self);
    return mp_obj_new_int(label);
}
static MP_DEFINE_CONST_FUN_OBJ_VAR_BETWEEN(learn_obj, 2, 3, learn);

static mp_obj_t merge(size_t n, const mp_obj_t *args) {
    learner *self = MP_OBJ_TO_PTR(args[0]);
    int label;
    open_counts(self);
    label = mapdpm_merge(&self->m, n < 2 ? 0 : number(args[1]));
    close_counts(self);
    return mp_obj_new_int(label);
}
static MP_DEFINE_CONST_FUN_OBJ_VAR_BETWEEN(merge_obj, 1, 2, merge);

/* The number of a slot. */
static int slot(mp_obj_t k, int least, int most) {
    int32_t value = number(k);
    require(value >= least && value <= most, "no such cluster");
    return value;
}

static mp_obj_t update(size_t n, const mp_obj_t *args) {
    learner *self = MP_OBJ_TO_PTR(args[0]);
    int k = slot(args[2], 0, self->m.clusters + 1);
    int32_t sign = number(args[3]);
    read_row(self, args[1]);
    open_counts(self);
    mapdpm_update(&self->m, self->row, k, sign);
    close_counts(self);
    return mp_const_none;
}
static MP_DEFINE_CONST_FUN_OBJ_VAR_BETWEEN(update_obj, 4, 4, update);

static mp_obj_t mean(mp_obj_t self_in, mp_obj_t k) {
    learner *self = MP_OBJ_TO_PTR(self_in);
    mp_obj_t list = mp_obj_new_list(0, NULL);
    int d;
    mapdpm_mean(&self->m, slot(k, -1, self->m.clusters - 1), self->row);
    for (d = 0; d < self->m.dim; d++) mp_obj_list_append(list, mp_obj_new_int(self->row[d]));
    return list;
}
static MP_DEFINE_CONST_FUN_OBJ_2(mean_obj, mean);

/* Load an attribute, or store k, as mapdpm_batch does. */
static void attribute(mp_obj_t self_in, qstr name, mp_obj_t *dest) {
    learner *self = MP_OBJ_TO_PTR(self_in);
    int i;
    if (dest[0] != MP_OBJ_NULL) {
        if (name == MP_QSTR_k && dest[1] != MP_OBJ_NULL) {
            self->m.k = number(dest[1]);
            dest[0] = MP_OBJ_NULL;
        }
        return;
    }
    if (name == MP_QSTR_k)
        dest[0] = mp_obj_new_int(self->m.k);
    else if (name == MP_QSTR_counts)
        dest[0] = self->counts;
    else if (name == MP_QSTR__slots)
        dest[0] = self->slots;
    else if (name == MP_QSTR__best)
        dest[0] = mp_obj_new_int(self->m.best);
    else if (name == MP_QSTR__second)
        dest[0] = mp_obj_new_int(self->m.second);
    else if (name == MP_QSTR__gap)
        dest[0] = mp_obj_new_int(self->m.gap);
    else
        dest[1] = MP_OBJ_SENTINEL; /* perhaps a method */
    for (i = 0; i < CONSTANTS; i++)
        if (name == names[i]) dest[0] = self->constants[i];
}

/* (numerator << shift) // denominator, as Python has it. */
static int32_t quotient(mp_obj_t pair, int shift) {
    size_t n;
    mp_obj_t *part, top;
    mp_obj_get_array(pair, &n, &part);
    require(n == 2, "prior out of range");
    top = mp_binary_op(MP_BINARY_OP_LSHIFT, part[0], MP_OBJ_NEW_SMALL_INT(shift));
    return number(mp_binary_op(MP_BINARY_OP_FLOOR_DIVIDE, top, part[1]));
}

/* A new array of n words, all of them 0. */
static mp_obj_t new_array(int n, int32_t **words) {
    mp_buffer_info_t buffer;
    mp_obj_t size = MP_OBJ_NEW_SMALL_INT(4 * n), args[2], array;
    array = mp_import_name(MP_QSTR_array, mp_const_none, MP_OBJ_NEW_SMALL_INT(0));
    args[0] = MP_OBJ_NEW_QSTR(MP_QSTR_i);
    args[1] = mp_call_function_n_kw(mp_load_global(MP_QSTR_bytes), 1, 0, &size);
    array = mp_call_function_n_kw(mp_load_attr(array, MP_QSTR_array), 2, 0, args);
    mp_get_buffer_raise(array, &buffer, MP_BUFFER_RW);
    *words = buffer.buf;
    return array;
}

static mp_obj_t new_tuple(mp_obj_t sequence) {
    return mp_call_function_n_kw(MP_OBJ_FROM_PTR(&mp_type_tuple), 1, 0, &sequence);
}

enum { ARG_DIM, ARG_CLUSTERS, ARG_M0, ARG_B0, ARG_C0, ARG_A0, ARG_ALPHA, ARG_MEMORY, ARGUMENTS };

static void parse(size_t n, size_t n_named, const mp_obj_t *args, mp_arg_val_t *v) {
    const mp_arg_t allowed[ARGUMENTS] = {
        {MP_QSTR_dim, MP_ARG_REQUIRED | MP_ARG_OBJ, {0}},
        {MP_QSTR_clusters, MP_ARG_REQUIRED | MP_ARG_OBJ, {0}},
        {MP_QSTR_m0, MP_ARG_REQUIRED | MP_ARG_OBJ, {0}},
        {MP_QSTR_b0, MP_ARG_REQUIRED | MP_ARG_OBJ, {0}},
        {MP_QSTR_c0, MP_ARG_OBJ, {.u_obj = MP_OBJ_NULL}},
        {MP_QSTR_a0, MP_ARG_OBJ, {.u_obj = MP_OBJ_NULL}},
        {MP_QSTR_alpha, MP_ARG_OBJ, {.u_obj = MP_OBJ_NULL}},
        {MP_QSTR_memory, MP_ARG_OBJ, {.u_obj = MP_OBJ_NEW_SMALL_INT(2048)}},
    };
    mp_arg_parse_all_kw_array(n, n_named, args, ARGUMENTS, allowed, v);
    v[ARG_M0].u_obj = new_tuple(v[ARG_M0].u_obj);
    v[ARG_B0].u_obj = new_tuple(v[ARG_B0].u_obj);
}

/* Begin with new memory; return whether the prior is in range. */
static bool begin(learner *self, const mp_arg_val_t *v) {
    int32_t c0[2] = {1, 10}, two_a0 = 2, alpha = 1024, *words, *m0, *b0;
    int32_t dim = number(v[ARG_DIM].u_obj), clusters = number(v[ARG_CLUSTERS].u_obj);
    if (dim < 1 || dim > 160 || clusters < 1 || clusters > 127) return false;
    self->slots = new_array(MAPDPM_WORDS(dim, clusters) + 2 * dim, &words);
    self->row = m0 = words + MAPDPM_WORDS(dim, clusters);
    b0 = m0 + dim;
    if (v[ARG_A0].u_obj != MP_OBJ_NULL) two_a0 = quotient(v[ARG_A0].u_obj, 1);
    if (v[ARG_ALPHA].u_obj != MP_OBJ_NULL) alpha = quotient(v[ARG_ALPHA].u_obj, 10);
    return (v[ARG_C0].u_obj == MP_OBJ_NULL || numbers(v[ARG_C0].u_obj, 2, c0)) &&
           numbers(v[ARG_M0].u_obj, dim, m0) && numbers(v[ARG_B0].u_obj, dim, b0) &&
           mapdpm_init(&self->m, words, dim, clusters, m0, b0, c0[0], c0[1], two_a0, alpha,
                       number(v[ARG_MEMORY].u_obj));
}

static mp_obj_t make_new(const mp_obj_type_t *type, size_t n, size_t n_named,
                         const mp_obj_t *args) {
    mp_arg_val_t v[ARGUMENTS];
    learner *self = mp_obj_malloc(learner, type);
    mapdpm *m = &self->m;
    parse(n, n_named, args, v);
    require(begin(self, v), "prior out of range");
    self->constants[CLUSTERS] = MP_OBJ_NEW_SMALL_INT(m->clusters);
    self->constants[DIM] = MP_OBJ_NEW_SMALL_INT(m->dim);
    self->constants[C0] = MP_OBJ_NEW_SMALL_INT(m->c0);
    self->constants[ONE] = MP_OBJ_NEW_SMALL_INT(m->one);
    self->constants[TWO_A0] = MP_OBJ_NEW_SMALL_INT(m->two_a0);
    self->constants[ALPHA] = MP_OBJ_NEW_SMALL_INT(m->alpha);
    self->constants[WIDTH] = MP_OBJ_NEW_SMALL_INT(MAPDPM_SLOT(m->dim));
    self->constants[M0] = v[ARG_M0].u_obj;
    self->constants[B0] = v[ARG_B0].u_obj;
    self->constants[MEMORY] = MP_OBJ_NEW_SMALL_INT(m->memory);
    self->counts = mp_obj_new_list(m->clusters, NULL);
    close_counts(self);
    return MP_OBJ_FROM_PTR(self);
}

mp_obj_full_type_t learner_type;
mp_map_elem_t methods[6];
static MP_DEFINE_CONST_DICT(methods_dict, methods);

mp_obj_t mpy_init(mp_obj_fun_bc_t *self, size_t n_args, size_t n_kw, mp_obj_t *args) {
    MP_DYNRUNTIME_INIT_ENTRY
    learner_type.base.type = &mp_type_type;
    learner_type.flags = MP_TYPE_FLAG_NONE;
    learner_type.name = MP_QSTR_MAPDPM;
    names[CLUSTERS] = MP_QSTR__clusters;
    names[DIM] = MP_QSTR__dim;
    names[C0] = MP_QSTR__c0;
    names[ONE] = MP_QSTR__one;
    names[TWO_A0] = MP_QSTR__two_a0;
    names[ALPHA] = MP_QSTR__alpha;
    names[WIDTH] = MP_QSTR__width;
    names[M0] = MP_QSTR__m0;
    names[B0] = MP_QSTR__b0;
    names[MEMORY] = MP_QSTR__memory;
    methods[0] = (mp_map_elem_t){MP_OBJ_NEW_QSTR(MP_QSTR_learn), MP_OBJ_FROM_PTR(&learn_obj)};
    methods[1] = (mp_map_elem_t){MP_OBJ_NEW_QSTR(MP_QSTR_predict), MP_OBJ_FROM_PTR(&predict_obj)};
    methods[2] = (mp_map_elem_t){MP_OBJ_NEW_QSTR(MP_QSTR_surprise), MP_OBJ_FROM_PTR(&surprise_obj)};
    methods[3] = (mp_map_elem_t){MP_OBJ_NEW_QSTR(MP_QSTR_merge), MP_OBJ_FROM_PTR(&merge_obj)};
    methods[4] = (mp_map_elem_t){MP_OBJ_NEW_QSTR(MP_QSTR_mean), MP_OBJ_FROM_PTR(&mean_obj)};
    methods[5] = (mp_map_elem_t){MP_OBJ_NEW_QSTR(MP_QSTR_update), MP_OBJ_FROM_PTR(&update_obj)};
    MP_OBJ_TYPE_SET_SLOT(&learner_type, make_new, make_new, 0);
    MP_OBJ_TYPE_SET_SLOT(&learner_type, attr, attribute, 1);
    MP_OBJ_TYPE_SET_SLOT(&learner_type, locals_dict, (void *)&methods_dict, 2);
    mp_store_global(MP_QSTR_MAPDPM, MP_OBJ_FROM_PTR(&learner_type));
    MP_DYNRUNTIME_INIT_EXIT
}
